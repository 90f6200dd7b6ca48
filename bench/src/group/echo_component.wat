;; The echo guest as a component of the world wasi:http/proxy: answers what it was asked, as JSON in the form in which the
;; guest of the extension door is shown it. A GET is not asked for a body: three host calls less. The answer is whole before
;; it is handed over, so that the server writes head and body at once.
(component
  (import "wasi:io/error@0.2.0" (instance $io (export "error" (type (sub resource)))))
  (alias export $io "error" (type $io-error))
  (import "wasi:io/streams@0.2.0" (instance $streams
    (alias outer 1 $io-error (type $outer-error))
    (export "error" (type $error (eq $outer-error)))
    (export "input-stream" (type $input (sub resource)))
    (export "output-stream" (type $output (sub resource)))
    (type $failures (variant (case "last-operation-failed" (own $error)) (case "closed")))
    (export "stream-error" (type $failure (eq $failures)))
    (export "[method]input-stream.blocking-read" (func (param "self" (borrow $input)) (param "len" u64)
      (result (result (list u8) (error $failure)))))
    (export "[method]output-stream.check-write" (func (param "self" (borrow $output))
      (result (result u64 (error $failure)))))
    (export "[method]output-stream.write" (func (param "self" (borrow $output)) (param "contents" (list u8))
      (result (result (error $failure)))))))
  (alias export $streams "input-stream" (type $input-stream))
  (alias export $streams "output-stream" (type $output-stream))
  (import "wasi:http/types@0.2.0" (instance $http
    (alias outer 1 $input-stream (type $outer-input))
    (alias outer 1 $output-stream (type $outer-output))
    (export "input-stream" (type $input (eq $outer-input)))
    (export "output-stream" (type $output (eq $outer-output)))
    (type $methods (variant (case "get") (case "head") (case "post") (case "put") (case "delete") (case "connect")
      (case "options") (case "trace") (case "patch") (case "other" string)))
    (export "method" (type $method (eq $methods)))
    (type $dns' (record (field "rcode" (option string)) (field "info-code" (option u16))))
    (export "DNS-error-payload" (type $dns (eq $dns')))
    (type $tls' (record (field "alert-id" (option u8)) (field "alert-message" (option string))))
    (export "TLS-alert-received-payload" (type $tls (eq $tls')))
    (type $size' (record (field "field-name" (option string)) (field "field-size" (option u32))))
    (export "field-size-payload" (type $size (eq $size')))
    (type $codes (variant
      (case "DNS-timeout") (case "DNS-error" $dns) (case "destination-not-found") (case "destination-unavailable")
      (case "destination-IP-prohibited") (case "destination-IP-unroutable") (case "connection-refused")
      (case "connection-terminated") (case "connection-timeout") (case "connection-read-timeout")
      (case "connection-write-timeout") (case "connection-limit-reached") (case "TLS-protocol-error")
      (case "TLS-certificate-error") (case "TLS-alert-received" $tls) (case "HTTP-request-denied")
      (case "HTTP-request-length-required") (case "HTTP-request-body-size" (option u64))
      (case "HTTP-request-method-invalid") (case "HTTP-request-URI-invalid") (case "HTTP-request-URI-too-long")
      (case "HTTP-request-header-section-size" (option u32)) (case "HTTP-request-header-size" (option $size))
      (case "HTTP-request-trailer-section-size" (option u32)) (case "HTTP-request-trailer-size" $size)
      (case "HTTP-response-incomplete") (case "HTTP-response-header-section-size" (option u32))
      (case "HTTP-response-header-size" $size) (case "HTTP-response-body-size" (option u64))
      (case "HTTP-response-trailer-section-size" (option u32)) (case "HTTP-response-trailer-size" $size)
      (case "HTTP-response-transfer-coding" (option string)) (case "HTTP-response-content-coding" (option string))
      (case "HTTP-response-timeout") (case "HTTP-upgrade-failed") (case "HTTP-protocol-error") (case "loop-detected")
      (case "configuration-error") (case "internal-error" (option string))))
    (export "error-code" (type $code (eq $codes)))
    (type $faults (variant (case "invalid-syntax") (case "forbidden") (case "immutable")))
    (export "header-error" (type $fault (eq $faults)))
    (export "fields" (type $fields (sub resource)))
    (export "incoming-request" (type $request (sub resource)))
    (export "incoming-body" (type $asked (sub resource)))
    (export "outgoing-response" (type $response (sub resource)))
    (export "outgoing-body" (type $answer (sub resource)))
    (export "response-outparam" (type $out (sub resource)))
    (export "[method]incoming-request.method" (func (param "self" (borrow $request)) (result $method)))
    (export "[method]incoming-request.path-with-query" (func (param "self" (borrow $request)) (result (option string))))
    (export "[method]incoming-request.headers" (func (param "self" (borrow $request)) (result (own $fields))))
    (export "[method]incoming-request.consume" (func (param "self" (borrow $request)) (result (result (own $asked)))))
    (export "[method]incoming-body.stream" (func (param "self" (borrow $asked)) (result (result (own $input)))))
    (export "[method]fields.entries" (func (param "self" (borrow $fields)) (result (list (tuple string (list u8))))))
    (export "[static]fields.from-list" (func (param "entries" (list (tuple string (list u8))))
      (result (result (own $fields) (error $fault)))))
    (export "[constructor]outgoing-response" (func (param "headers" (own $fields)) (result (own $response))))
    (export "[method]outgoing-response.body" (func (param "self" (borrow $response)) (result (result (own $answer)))))
    (export "[method]outgoing-body.write" (func (param "self" (borrow $answer)) (result (result (own $output)))))
    (export "[static]outgoing-body.finish" (func (param "this" (own $answer)) (param "trailers" (option (own $fields)))
      (result (result (error $code)))))
    (export "[static]response-outparam.set" (func (param "param" (own $out))
      (param "response" (result (own $response) (error $code)))))))
  (alias export $http "incoming-request" (type $incoming-request))
  (alias export $http "response-outparam" (type $response-outparam))

  ;; The memory comes first: the host's functions are lowered with it before the guest can import them.
  (core module $Heap
    (memory (export "memory") 1)
    (global $top (export "top") (mut i32) (i32.const 1024))
    (data (i32.const 0) "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    ;; eight bytes a method, the last of them its length
    (data (i32.const 64) "GET....\03HEAD...\04POST...\04PUT....\03DELETE.\06CONNECT\07OPTIONS\07TRACE..\05PATCH..\05")
    (data (i32.const 144) "{\22context\22:{\22request_id\22:null,\22tenant_id\22:\22dev\22,\22extension_id\22:\22echo\22,\22version_id\22:null},\22http\22:{\22method\22:\22") ;; 107 bytes
    (data (i32.const 256) "\22,\22path\22:\22")    ;; 10
    (data (i32.const 272) "\22,\22query\22:\22")   ;; 11
    (data (i32.const 288) "\22,\22headers\22:{")   ;; 13
    (data (i32.const 304) "},\22body_b64\22:")     ;; 13
    (data (i32.const 320) "null}}\22}}")           ;; 6 and 3
    (data (i32.const 336) "content-type")          ;; 12
    (data (i32.const 352) "application/json")      ;; 16
    (data (i32.const 368) "content-length")        ;; 14
    ;; two headers: name, length, value, length; the last value is set when the answer is there
    (data (i32.const 384) "\50\01\00\00\0c\00\00\00\60\01\00\00\10\00\00\00\70\01\00\00\0e\00\00\00")
    ;; 448 is where what a host function answers lies; 512 to 528 where the length is written, backwards
    (func $reserve (export "reserve") (param $end i32)
      (local $have i32)
      (local.set $have (i32.mul (memory.size) (i32.const 65536)))
      (if (i32.gt_u (local.get $end) (local.get $have)) (then
        (if (i32.eq (i32.const -1) (memory.grow (i32.add (i32.const 1)
              (i32.div_u (i32.sub (local.get $end) (local.get $have)) (i32.const 65536)))))
          (then (unreachable))))))
    ;; Bytes that are asked for one after the other lie one after the other: that is how a body comes together.
    (func (export "realloc") (param $old i32) (param $had i32) (param $align i32) (param $want i32) (result i32)
      (local $at i32)
      (local.set $at (i32.and (i32.sub (i32.add (global.get $top) (local.get $align)) (i32.const 1))
        (i32.sub (i32.const 0) (local.get $align))))
      (global.set $top (i32.add (local.get $at) (local.get $want)))
      (call $reserve (global.get $top))
      (memory.copy (local.get $at) (local.get $old) (local.get $had))
      (local.get $at)))
  (core instance $heap (instantiate $Heap))
  (alias core export $heap "memory" (core memory $memory))
  (alias core export $heap "realloc" (core func $realloc))

  (core func $method (canon lower (func $http "[method]incoming-request.method") (memory $memory) (realloc $realloc)))
  (core func $path (canon lower (func $http "[method]incoming-request.path-with-query") (memory $memory) (realloc $realloc)))
  (core func $headers (canon lower (func $http "[method]incoming-request.headers")))
  (core func $entries (canon lower (func $http "[method]fields.entries") (memory $memory) (realloc $realloc)))
  (core func $consume (canon lower (func $http "[method]incoming-request.consume") (memory $memory)))
  (core func $stream (canon lower (func $http "[method]incoming-body.stream") (memory $memory)))
  (core func $read (canon lower (func $streams "[method]input-stream.blocking-read") (memory $memory) (realloc $realloc)))
  (core func $from-list (canon lower (func $http "[static]fields.from-list") (memory $memory)))
  (core func $response (canon lower (func $http "[constructor]outgoing-response")))
  (core func $body (canon lower (func $http "[method]outgoing-response.body") (memory $memory)))
  (core func $writer (canon lower (func $http "[method]outgoing-body.write") (memory $memory)))
  (core func $check (canon lower (func $streams "[method]output-stream.check-write") (memory $memory)))
  (core func $write (canon lower (func $streams "[method]output-stream.write") (memory $memory)))
  (core func $drop (canon resource.drop $output-stream))
  (core func $finish (canon lower (func $http "[static]outgoing-body.finish") (memory $memory) (realloc $realloc)))
  (core func $set (canon lower (func $http "[static]response-outparam.set") (memory $memory)))

  (core module $Echo
    (import "heap" "memory" (memory 1))
    (import "heap" "top" (global $top (mut i32)))
    (import "heap" "reserve" (func $reserve (param i32)))
    (import "host" "method" (func $method (param i32 i32)))
    (import "host" "path" (func $path (param i32 i32)))
    (import "host" "headers" (func $headers (param i32) (result i32)))
    (import "host" "entries" (func $entries (param i32 i32)))
    (import "host" "consume" (func $consume (param i32 i32)))
    (import "host" "stream" (func $stream (param i32 i32)))
    (import "host" "read" (func $read (param i32 i64 i32)))
    (import "host" "from-list" (func $from-list (param i32 i32 i32)))
    (import "host" "response" (func $response (param i32) (result i32)))
    (import "host" "body" (func $body (param i32 i32)))
    (import "host" "writer" (func $writer (param i32 i32)))
    (import "host" "check" (func $check (param i32 i32)))
    (import "host" "write" (func $write (param i32 i32 i32 i32)))
    (import "host" "drop" (func $drop (param i32)))
    (import "host" "finish" (func $finish (param i32 i32 i32 i32)))
    (import "host" "set" (func $set (param i32 i32 i32 i32 i64 i32 i32 i32 i32)))
    (global $w (mut i32) (i32.const 0))

    (func $put (param $byte i32)
      (i32.store8 (global.get $w) (local.get $byte))
      (global.set $w (i32.add (global.get $w) (i32.const 1))))

    (func $raw (param $from i32) (param $length i32)
      (memory.copy (global.get $w) (local.get $from) (local.get $length))
      (global.set $w (i32.add (global.get $w) (local.get $length))))

    ;; As it stands within a JSON string. HTTP lets no control character through but the tab.
    (func $text (param $from i32) (param $length i32)
      (local $end i32) (local $byte i32)
      (local.set $end (i32.add (local.get $from) (local.get $length)))
      (block $done
        (loop $next
          (br_if $done (i32.ge_u (local.get $from) (local.get $end)))
          (local.set $byte (i32.load8_u (local.get $from)))
          (if (i32.or (i32.eq (local.get $byte) (i32.const 0x22)) (i32.eq (local.get $byte) (i32.const 0x5c)))
            (then (call $put (i32.const 0x5c))))
          (call $put (select (i32.const 0x20) (local.get $byte) (i32.eq (local.get $byte) (i32.const 9))))
          (local.set $from (i32.add (local.get $from) (i32.const 1)))
          (br $next))))

    (func $sym (param $value i32)
      (call $put (i32.load8_u (i32.and (local.get $value) (i32.const 63)))))

    (func $base64 (param $from i32) (param $end i32)
      (local $value i32)
      (block $done
        (loop $next
          (br_if $done (i32.ge_u (local.get $from) (local.get $end)))
          (local.set $value (i32.or (i32.load8_u offset=2 (local.get $from)) (i32.or
            (i32.shl (i32.load8_u (local.get $from)) (i32.const 16))
            (i32.shl (i32.load8_u offset=1 (local.get $from)) (i32.const 8)))))
          (call $sym (i32.shr_u (local.get $value) (i32.const 18)))
          (call $sym (i32.shr_u (local.get $value) (i32.const 12)))
          (call $sym (i32.shr_u (local.get $value) (i32.const 6)))
          (call $sym (local.get $value))
          (local.set $from (i32.add (local.get $from) (i32.const 3)))
          (br $next)))
      ;; What was read beyond the end was zero, and becomes padding.
      (if (i32.gt_u (local.get $from) (local.get $end))
        (then (i32.store8 (i32.sub (global.get $w) (i32.const 1)) (i32.const 0x3d))))
      (if (i32.gt_u (local.get $from) (i32.add (local.get $end) (i32.const 1)))
        (then (i32.store8 (i32.sub (global.get $w) (i32.const 2)) (i32.const 0x3d)))))

    (func (export "handle") (param $request i32) (param $out i32)
      (local $verb i32) (local $verb-length i32) (local $path i32) (local $path-end i32) (local $query i32)
      (local $entry i32) (local $entries-end i32) (local $body i32) (local $from i32) (local $count i32)
      (local $response i32) (local $answer i32) (local $stream i32)
      (call $method (local.get $request) (i32.const 448))
      (local.set $verb (i32.add (i32.const 64) (i32.shl (i32.load8_u (i32.const 448)) (i32.const 3))))
      (local.set $verb-length (i32.load8_u offset=7 (local.get $verb)))
      (if (i32.eq (i32.load8_u (i32.const 448)) (i32.const 9)) (then
        (local.set $verb (i32.load (i32.const 452)))
        (local.set $verb-length (i32.load (i32.const 456)))))

      ;; GET and HEAD are the first two.
      (if (i32.gt_u (i32.load8_u (i32.const 448)) (i32.const 1)) (then
        (call $consume (local.get $request) (i32.const 448))
        (call $stream (i32.load (i32.const 452)) (i32.const 448))
        (local.set $stream (i32.load (i32.const 452)))
        (local.set $body (global.get $top))
        (loop $more
          (call $read (local.get $stream) (i64.const 65536) (i32.const 448))
          (br_if $more (i32.eqz (i32.load8_u (i32.const 448)))))
        (local.set $count (i32.sub (global.get $top) (local.get $body)))))

      (call $path (local.get $request) (i32.const 448))
      (if (i32.load8_u (i32.const 448)) (then
        (local.set $path (i32.load (i32.const 452)))
        (local.set $path-end (i32.add (local.get $path) (i32.load (i32.const 456))))))
      (local.set $query (local.get $path))
      (block $found
        (loop $next
          (br_if $found (i32.ge_u (local.get $query) (local.get $path-end)))
          (br_if $found (i32.eq (i32.load8_u (local.get $query)) (i32.const 0x3f)))
          (local.set $query (i32.add (local.get $query) (i32.const 1)))
          (br $next)))
      (call $entries (call $headers (local.get $request)) (i32.const 448))
      (local.set $entry (i32.load (i32.const 448)))
      (local.set $entries-end
        (i32.add (local.get $entry) (i32.shl (i32.load (i32.const 452)) (i32.const 4))))

      ;; Escaped it is at most twice as long, and what stands between headers is less than their entries.
      (local.set $from (i32.and (i32.add (global.get $top) (i32.const 16)) (i32.const -8)))
      (call $reserve (i32.add (i32.mul (global.get $top) (i32.const 3)) (i32.const 1024)))
      (global.set $w (local.get $from))
      (call $raw (i32.const 144) (i32.const 107))
      (call $text (local.get $verb) (local.get $verb-length))
      (call $raw (i32.const 256) (i32.const 10))
      (call $text (local.get $path) (i32.sub (local.get $query) (local.get $path)))
      (if (i32.lt_u (local.get $query) (local.get $path-end)) (then
        (call $raw (i32.const 272) (i32.const 11))
        (call $text (i32.add (local.get $query) (i32.const 1))
          (i32.sub (i32.sub (local.get $path-end) (local.get $query)) (i32.const 1)))))
      (call $raw (i32.const 288) (i32.const 13))
      (block $done
        (loop $next
          (br_if $done (i32.ge_u (local.get $entry) (local.get $entries-end)))
          (call $put (i32.const 0x22))
          (call $text (i32.load (local.get $entry)) (i32.load offset=4 (local.get $entry)))
          (call $raw (i32.const 263) (i32.const 3))
          (call $text (i32.load offset=8 (local.get $entry)) (i32.load offset=12 (local.get $entry)))
          (call $put (i32.const 0x22))
          (local.set $entry (i32.add (local.get $entry) (i32.const 16)))
          (br_if $done (i32.ge_u (local.get $entry) (local.get $entries-end)))
          (call $put (i32.const 0x2c))
          (br $next)))
      (call $raw (i32.const 304) (i32.const 13))
      (if (local.get $count)
        (then
          (call $put (i32.const 0x22))
          (call $base64 (local.get $body) (i32.add (local.get $body) (local.get $count)))
          (call $raw (i32.const 326) (i32.const 3)))
        (else (call $raw (i32.const 320) (i32.const 6))))

      (call $length (i32.sub (global.get $w) (local.get $from)))
      (call $from-list (i32.const 384) (i32.const 2) (i32.const 448))
      (local.set $response (call $response (i32.load (i32.const 452))))
      (call $body (local.get $response) (i32.const 448))
      (local.set $answer (i32.load (i32.const 452)))
      (call $writer (local.get $answer) (i32.const 448))
      (local.set $stream (i32.load (i32.const 452)))
      (loop $more
        (call $check (local.get $stream) (i32.const 448))
        (local.set $count (i32.sub (global.get $w) (local.get $from)))
        (if (i32.gt_u (local.get $count) (i32.load (i32.const 456)))
          (then (local.set $count (i32.load (i32.const 456)))))
        ;; Nobody takes it away before it is handed over: two megabytes are the most.
        (if (i32.eqz (local.get $count)) (then (unreachable)))
        (call $write (local.get $stream) (local.get $from) (local.get $count) (i32.const 448))
        (local.set $from (i32.add (local.get $from) (local.get $count)))
        (br_if $more (i32.lt_u (local.get $from) (global.get $w))))
      (call $drop (local.get $stream))
      (call $finish (local.get $answer) (i32.const 0) (i32.const 0) (i32.const 448))
      (call $set (local.get $out) (i32.const 0) (local.get $response)
        (i32.const 0) (i64.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))

    ;; The value of the header `content-length`.
    (func $length (param $count i32)
      (local $at i32)
      (local.set $at (i32.const 528))
      (loop $digit
        (local.set $at (i32.sub (local.get $at) (i32.const 1)))
        (i32.store8 (local.get $at) (i32.add (i32.const 48) (i32.rem_u (local.get $count) (i32.const 10))))
        (br_if $digit (local.tee $count (i32.div_u (local.get $count) (i32.const 10)))))
      (i32.store (i32.const 408) (local.get $at))
      (i32.store (i32.const 412) (i32.sub (i32.const 528) (local.get $at)))))
  (core instance $echo (instantiate $Echo
    (with "heap" (instance $heap))
    (with "host" (instance
      (export "method" (func $method)) (export "path" (func $path)) (export "headers" (func $headers))
      (export "entries" (func $entries)) (export "consume" (func $consume)) (export "stream" (func $stream))
      (export "read" (func $read)) (export "from-list" (func $from-list)) (export "response" (func $response))
      (export "body" (func $body)) (export "writer" (func $writer)) (export "check" (func $check))
      (export "write" (func $write)) (export "drop" (func $drop)) (export "finish" (func $finish))
      (export "set" (func $set))))))
  (func $handle (param "request" (own $incoming-request)) (param "response-out" (own $response-outparam))
    (canon lift (core func $echo "handle")))
  (instance $handler (export "handle" (func $handle)))
  (export "wasi:http/incoming-handler@0.2.0" (instance $handler)))
