//! The imports as they are: module `env`, 32-bit integers, -1 where something was refused. One that is not used is not
//! imported, so a module needs the powers that it uses and no others.

macro_rules! imports {
    ($($name:ident($($arg:ident: $ty:ty),*) -> $ret:ty, $else:expr;)*) => {
        #[cfg(target_family = "wasm")]
        #[link(wasm_import_module = "env")]
        unsafe extern "C" {
            $(pub(crate) fn $name($($arg: $ty),*) -> $ret;)*
        }

        // Elsewhere there is no host: everything is refused, so that what uses this can be compiled and tested.
        $(
            #[cfg(not(target_family = "wasm"))]
            pub(crate) unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
                let _ = ($($arg,)*);
                $else
            }
        )*
    };
}

imports! {
    host_now() -> i64, 0;
    host_log(at: *const u8, len: u32) -> i32, -1;
    host_error(out: *mut u8, cap: u32) -> i32, -1;
    host_kv_put(key: *const u8, key_len: u32, value: *const u8, value_len: u32) -> i32, -1;
    host_kv_get(key: *const u8, key_len: u32, out: *mut u8, cap: u32) -> i32, -1;
    host_kv_call(operation: *const u8, operation_len: u32, request: *const u8, request_len: u32) -> i32, -1;
    host_queue_call(operation: *const u8, operation_len: u32, request: *const u8, request_len: u32) -> i32, -1;
    host_llm_call(operation: *const u8, operation_len: u32, request: *const u8, request_len: u32) -> i32, -1;
    host_browse_call(operation: *const u8, operation_len: u32, request: *const u8, request_len: u32) -> i32, -1;
    host_reply(out: *mut u8, cap: u32) -> i32, -1;
    host_sign(name: *const u8, name_len: u32, data: *const u8, data_len: u32, out: *mut u8, cap: u32) -> i32, -1;
    host_publish(topic: *const u8, topic_len: u32, message: *const u8, message_len: u32) -> i32, -1;
    host_poll(topic: *const u8, topic_len: u32, out: *mut u8, cap: u32) -> i32, -1;
    host_vfs_write(path: *const u8, path_len: u32, data: *const u8, data_len: u32) -> i32, -1;
    host_vfs_read(path: *const u8, path_len: u32, out: *mut u8, cap: u32) -> i32, -1;
    host_exec(request: *const u8, request_len: u32, out: *mut u8, cap: u32) -> i32, -1;
    host_status() -> i32, -1;
    host_commands(out: *mut u8, cap: u32) -> i32, -1;
    host_parallel_map(request: *const u8, request_len: u32, out: *mut u8, cap: u32) -> i32, -1;
    host_parallel_status(index: u32) -> i32, -1;
    host_http_get(url: *const u8, url_len: u32, out: *mut u8, cap: u32) -> i32, -1;
    host_http(method: *const u8, method_len: u32, url: *const u8, url_len: u32, headers: *const u8, headers_len: u32, body: *const u8, body_len: u32, out: *mut u8, cap: u32) -> i32, -1;
    host_http_get_many(urls: *const u8, urls_len: u32, out: *mut u8, cap: u32) -> i32, -1;
    host_tcp(host: *const u8, host_len: u32, port: u32, data: *const u8, data_len: u32, out: *mut u8, cap: u32) -> i32, -1;
    host_udp(host: *const u8, host_len: u32, port: u32, data: *const u8, data_len: u32, out: *mut u8, cap: u32) -> i32, -1;
    host_tls(host: *const u8, host_len: u32, port: u32, data: *const u8, data_len: u32, out: *mut u8, cap: u32) -> i32, -1;
    host_request_len() -> i32, -1;
    host_request_get(out: *mut u8, cap: u32) -> i32, -1;
    host_response_set(at: *const u8, len: u32) -> i32, -1;
}
