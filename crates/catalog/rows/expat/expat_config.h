/* What expat's configure would have found on WASI. */
#define HAVE_MEMMOVE 1
#define BYTEORDER 1234
#define XML_NS 1
#define XML_DTD 1
#define XML_CONTEXT_BYTES 1024
