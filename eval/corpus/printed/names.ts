// The names of the printed reports; the part before the number is the program that printed them.

const numbered = (program: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${program}-${String(at + 1).padStart(2, '0')}`)

/** `bare`: tables without names of columns; `beside`: two tables side by side. A browser has printed them. */
export const printedNames: readonly string[] = [
  ...numbered('browser', 60),
  ...numbered('writer', 18),
  ...numbered('calc', 10),
  ...numbered('bare', 4),
  ...numbered('beside', 4),
]
