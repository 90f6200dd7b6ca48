from decimal import *; from fractions import Fraction
import math, statistics
getcontext().prec=30; print(Decimal(1)/3, Decimal("1.10")+Decimal("2.2"), Decimal("1E+3").normalize(), Fraction(3,9)+Fraction(1,6), Fraction("0.125"))
print(math.factorial(30), math.comb(50,25), math.isclose(.1+.2,.3), math.gcd(12,18), math.pi, math.e**2, math.sin(1), math.log(10), math.hypot(3,4), math.fsum([.1]*10))
print(statistics.mean([1,2,3,4]), statistics.stdev([1,2,3,4]), statistics.median([3,1,2]), statistics.quantiles([1,2,3,4,5]), round(2.5), round(-1.5), round(2.675,2), 7//-2, -7%3, divmod(-7,2), 0.1+0.2, 1e16, 1e-5, 123456789.123)
try: Decimal(1)/0
except DivisionByZero as e: print(type(e))
