/* lua: runs a script, a string or standard input. Ours, since the package carries the library alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

/* An error becomes its message and where it came from. */
static int with_traceback(lua_State *L) {
    const char *message = lua_tostring(L, 1);
    if (!message && !luaL_callmeta(L, 1, "__tostring"))
        message = lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
    luaL_traceback(L, L, message ? message : lua_tostring(L, -1), 1);
    return 1;
}

/* Calls the function below its arguments; says on stderr what went wrong. */
static int call(lua_State *L, int arguments) {
    int base = lua_gettop(L) - arguments;
    lua_pushcfunction(L, with_traceback);
    lua_insert(L, base);
    int status = lua_pcall(L, arguments, 0, base);
    lua_remove(L, base);
    if (status != LUA_OK) {
        fprintf(stderr, "lua: %s\n", lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    return status;
}

static int run(lua_State *L, int loaded, int arguments) {
    if (loaded != LUA_OK) {
        fprintf(stderr, "lua: %s\n", lua_tostring(L, -1));
        lua_pop(L, 1);
        return loaded;
    }
    lua_insert(L, -(arguments + 1));
    return call(L, arguments);
}

/* `arg`, with the script at 0. */
static void make_arg(lua_State *L, char **argv, int argc, int script) {
    lua_createtable(L, argc - script, script + 1);
    for (int i = 0; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i - script);
    }
    lua_setglobal(L, "arg");
}

static int usage(const char *word) {
    fprintf(stderr, "lua: unrecognized option '%s'\n"
                    "usage: lua [-v] [-e CHUNK] [-l MODULE] [-] [SCRIPT [ARGS]]\n", word);
    return EXIT_FAILURE;
}

int main(int argc, char **argv) {
    lua_State *L = luaL_newstate();
    if (!L) {
        fputs("lua: not enough memory\n", stderr);
        return EXIT_FAILURE;
    }
    luaL_openlibs(L);
    int script = 1, ran = 0;
    while (script < argc && argv[script][0] == '-' && argv[script][1] && strcmp(argv[script], "--"))
        script += (argv[script][1] == 'e' || argv[script][1] == 'l') && !argv[script][2] ? 2 : 1;
    if (script < argc && !strcmp(argv[script], "--"))
        script++;
    make_arg(L, argv, argc, script < argc ? script : 0);
    for (int i = 1; i < script && i < argc; i++) {
        char kind = argv[i][1];
        const char *rest = argv[i] + 2;
        if ((kind == 'e' || kind == 'l') && !*rest && !(rest = argv[++i]))
            return usage(argv[i - 1]);
        if (kind == 'v') {
            puts(LUA_COPYRIGHT);
        } else if (kind == 'e') {
            if (luaL_loadbuffer(L, rest, strlen(rest), "=(command line)") != LUA_OK || call(L, 0) != LUA_OK) {
                if (lua_gettop(L))
                    fprintf(stderr, "lua: %s\n", lua_tostring(L, -1));
                return EXIT_FAILURE;
            }
        } else if (kind == 'l') {
            lua_getglobal(L, "require");
            lua_pushstring(L, rest);
            if (call(L, 1) != LUA_OK)
                return EXIT_FAILURE;
        } else if (strcmp(argv[i], "--")) {
            return usage(argv[i]);
        }
        ran = 1;
    }
    int status = LUA_OK;
    if (script < argc) {
        const char *name = strcmp(argv[script], "-") ? argv[script] : NULL;
        for (int i = script + 1; i < argc; i++)
            lua_pushstring(L, argv[i]);
        status = run(L, luaL_loadfile(L, name), argc - script - 1);
    } else if (!ran) {
        status = run(L, luaL_loadfile(L, NULL), 0);
    }
    lua_close(L);
    return status == LUA_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
