import hashlib, hmac, zlib, gzip, base64, binascii, struct, bz2, uuid, secrets
print(hashlib.md5(b"x").hexdigest(), hashlib.sha1(b"x").hexdigest(), hashlib.sha512(b"x").hexdigest()[:20], hashlib.sha3_256(b"x").hexdigest()[:20], hashlib.blake2b(b"x",digest_size=8).hexdigest(), hashlib.new("sha256",b"a").hexdigest()[:8])
print(hmac.new(b"k",b"m","sha256").hexdigest(), zlib.crc32(b"abc"), zlib.decompress(zlib.compress(b"a"*1000))==b"a"*1000, gzip.decompress(gzip.compress(b"zz")), base64.b64encode(b"\x00\xff"), base64.b85encode(b"hi"), binascii.hexlify(b"ab"))
print(struct.pack("<IhfQ",1,-2,1.5,2**40), struct.unpack(">H",b"\x01\x02"), struct.calcsize("<il"), bz2.decompress(bz2.compress(b"q")).decompress(lzma.compress(b"q")), uuid.uuid5(uuid.NAMESPACE_DNS,"x"), len(secrets.token_hex(4)))
print(hashlib.pbkdf2_hmac("sha256",b"p",b"s",1000).hex(), hashlib.scrypt(b"p",salt=b"s",n=2,r=1,p=1).hex()[:10] if hasattr(hashlib,"scrypt") else 0)
