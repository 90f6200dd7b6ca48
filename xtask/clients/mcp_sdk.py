"""The official Python SDK against `drydock mcp`: one fixed scenario, in the newest revision and in an older one.

Started by `cargo xtask clients` with the binary and a scratch directory; any difference ends it with a traceback.
"""

import asyncio
import base64
import pathlib
import sys

from mcp import Client, StdioServerParameters

BINARY, SCRATCH = sys.argv[1], pathlib.Path(sys.argv[2])
NAMES = "sh run js py read_file write_file edit_file list_files search diff".split()


async def scenario(mode: str, revision: str) -> None:
    project = SCRATCH / "project"
    project.mkdir(exist_ok=True)
    (project / "a.txt").write_text("one\ntwo\n")
    (project / "x.bin").write_bytes(b"\xff\x00\xfe")
    env = {"DRYDOCK_HOME": str(SCRATCH / "home")}
    server = StdioServerParameters(command=BINARY, args=["mcp", "--dir", str(project)], env=env)
    async with Client(server, mode=mode, read_timeout_seconds=300) as client:
        assert client.protocol_version == revision, client.protocol_version
        assert client.server_info.name == "drydock", client.server_info
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == NAMES, tools

        done = await client.call_tool("sh", {"script": "sort -r a.txt; exit 3"})
        assert done.structured_content["stdout"] == "two\none\n", done
        assert done.structured_content["status"] == 3 and not done.is_error, done
        done = await client.call_tool("run", {"name": "jq", "args": ["-c", "."], "stdin": '{"a": 1}'})
        assert done.content[0].text == '{"a":1}\n', done
        done = await client.call_tool("js", {"code": "args.n * 2", "args": {"n": 21}})
        assert done.structured_content["result"] == 42, done
        # Nothing of the catalog is installed in a fresh home, and the answer says so.
        done = await client.call_tool("py", {"code": "1 + 1"})
        assert done.is_error and "not_installed" in done.content[0].text, done

        edit = {"path": "a.txt", "old_text": "two", "new_text": "2"}
        done = await client.call_tool("edit_file", edit)
        assert done.structured_content["replaced"] == 1, done
        done = await client.call_tool("edit_file", edit)
        assert done.is_error and "no_match" in done.content[0].text, done
        done = await client.call_tool("diff", {})
        assert "-two\n+2\n" in done.content[0].text, done
        done = await client.call_tool("read_file", {"path": "../secret"})
        assert done.is_error and "bad_path" in done.content[0].text, done

        found = (await client.list_resources()).resources
        assert [str(it.uri) for it in found] == ["drydock:///project/a.txt", "drydock:///project/x.bin"], found
        read = await client.read_resource("drydock:///project/x.bin")
        assert base64.b64decode(read.contents[0].blob) == b"\xff\x00\xfe", read

        told = []

        async def progress(done, total, message):
            told.append(done)

        await client.call_tool("sh", {"script": "echo one; sleep 0.7"}, progress_callback=progress)
        assert len(told) >= 2 and told == sorted(told), told
    assert (project / "a.txt").read_text() == "one\ntwo\n"


asyncio.run(scenario("auto", "2026-07-28"))
asyncio.run(scenario("legacy", "2025-11-25"))
