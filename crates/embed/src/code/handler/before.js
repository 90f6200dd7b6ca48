console.log("\u0002");{const say=console.log;console.warn=console.error=(...words)=>say("\u0001",...words);globalThis.log=Object.freeze({info:(...words)=>say(...words),error:console.error});}
