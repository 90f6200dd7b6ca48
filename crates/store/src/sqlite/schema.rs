//! The tables of a workspace, and the views people query.
//!
//! A name belongs to a directory and stands for a node. A node's content is cut into chunks, the
//! first of which is named in the node itself, because most files have only one. A chunk's bytes are
//! either private to it and written in place, or *sealed*: named by their hash, shared, counted, and
//! never written again.

/// Bytes in one chunk. The views say this number again.
pub(super) const CHUNK_BYTES: u64 = 65_536;

/// What this code reads and writes.
pub(crate) const VERSION: i64 = 3;

/// "dryd", so that `file` and others can tell.
pub(super) const APPLICATION: i64 = 0x6472_7964;

pub(super) const TABLES: &str = "
CREATE TABLE volume (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, root INTEGER NOT NULL) STRICT;
CREATE TABLE node (
    id INTEGER PRIMARY KEY, volume INTEGER NOT NULL,
    kind INTEGER NOT NULL,            -- 0 file, 1 directory, 2 symbolic link
    mode INTEGER NOT NULL,            -- permission bits
    links INTEGER NOT NULL, size INTEGER NOT NULL,
    atime INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL, -- nanoseconds
    parent INTEGER,                   -- of a directory
    target TEXT,                      -- of a symbolic link
    content INTEGER, hash BLOB        -- the first chunk
) STRICT;
CREATE INDEX node_without_name ON node(id) WHERE links = 0;
CREATE TABLE name (
    parent INTEGER NOT NULL, name TEXT NOT NULL, node INTEGER NOT NULL, kind INTEGER NOT NULL,
    PRIMARY KEY (parent, name)) STRICT, WITHOUT ROWID;
CREATE TABLE chunk (
    node INTEGER NOT NULL, idx INTEGER NOT NULL, content INTEGER NOT NULL, hash BLOB,
    PRIMARY KEY (node, idx)) STRICT, WITHOUT ROWID;
CREATE TABLE content (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
CREATE TABLE sealed (
    hash BLOB PRIMARY KEY, content INTEGER NOT NULL, refs INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE epoch (epoch INTEGER NOT NULL) STRICT;
CREATE TABLE session (id INTEGER PRIMARY KEY, pid INTEGER NOT NULL) STRICT;
CREATE TABLE pending (mount TEXT PRIMARY KEY, nonce TEXT NOT NULL, paths TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE base (                  -- what a mounted directory had when it was first changed here
    mount TEXT NOT NULL, path TEXT NOT NULL, kind INTEGER NOT NULL, size INTEGER NOT NULL,
    mtime INTEGER NOT NULL, ctime INTEGER NOT NULL, inode INTEGER NOT NULL, hash BLOB,
    mode INTEGER NOT NULL,
    PRIMARY KEY (mount, path)) STRICT, WITHOUT ROWID;
CREATE TABLE directory (             -- of the host, that it was mounted over
    mount TEXT PRIMARY KEY, host BLOB NOT NULL,
    access INTEGER NOT NULL,         -- 0 ro, 1 rw, 2 cow
    device INTEGER NOT NULL, inode INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE VIEW tree(volume, path, kind, node, links, size, mtime, target, mode) AS
WITH RECURSIVE below(volume, path, kind, node) AS (
    SELECT v.name, n.name, n.kind, n.node FROM volume v JOIN name n ON n.parent = v.root
    UNION ALL
    SELECT b.volume, b.path || '/' || n.name, n.kind, n.node
    FROM below b JOIN name n ON n.parent = b.node WHERE b.kind = 1
)
SELECT b.volume, b.path, CASE b.kind WHEN 0 THEN 'file' WHEN 1 THEN 'dir' ELSE 'link' END,
       b.node, d.links, d.size, d.mtime / 1000000000, d.target, d.mode
FROM below b JOIN node d ON d.id = b.node;

CREATE VIEW vfs(volume, path, content, mtime, size, inode, links) AS
SELECT t.volume, t.path,
    CASE
    WHEN t.size = 0 THEN x''
    WHEN t.size <= 65536 THEN
        coalesce((SELECT substr(c.bytes, 1, t.size) FROM node d JOIN content c ON c.id = d.content
                  WHERE d.id = t.node), zeroblob(t.size))
    ELSE (
        WITH RECURSIVE part(idx) AS (
            SELECT 0 UNION ALL SELECT idx + 1 FROM part WHERE (idx + 1) * 65536 < t.size)
        SELECT CAST(group_concat(CAST(coalesce(
            (SELECT substr(c.bytes, 1, min(65536, t.size - p.idx * 65536)) FROM content c WHERE c.id =
                CASE p.idx WHEN 0 THEN (SELECT d.content FROM node d WHERE d.id = t.node)
                ELSE (SELECT k.content FROM chunk k WHERE k.node = t.node AND k.idx = p.idx) END),
            zeroblob(min(65536, t.size - p.idx * 65536))) AS TEXT), '' ORDER BY p.idx) AS BLOB)
        FROM part p)
    END,
    t.mtime, t.size, t.node, t.links
FROM tree t WHERE t.kind = 'file';
";
