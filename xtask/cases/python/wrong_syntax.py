def f(:
 pass