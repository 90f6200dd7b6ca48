print(2**521-1, pow(3,1000,10**9+7), int("9"*50)//7, (10**40).bit_length(), hex(2**100), 0xff, 1_000, int("z",36), (255).to_bytes(2,"big"), float("1e308")*10, -0.0, 1/3, complex(1,2)*3j, abs(3+4j), float.hex(0.1), (0.1).as_integer_ratio(), sum([0.1]*3), 5e-324)
try: print(str(10**5000)[:5])
except ValueError as e: print(e)
