//! A message of an MCP client that is too long to be kept: whatever its bytes are, the id that is found is the
//! one that a JSON reader finds, or none.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let found = drydock_mcp::foreign::id_of(bytes);
    let Ok(serde_json::Value::Object(message)) = serde_json::from_slice(bytes) else { return };
    // Of two members with the same name the reader takes the last and we the first.
    if let (Some(found), Some(id)) = (found, message.get("id"))
        && String::from_utf8_lossy(bytes).matches("\"id\"").count() == 1
    {
        assert_eq!(&found, id);
    }
});
