// The names of the printed reports; the part before the number is the program that printed them.

const numberNames = (program: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${program}-${String(index + 1).padStart(2, '0')}`)

/** `bare`: tables without names of columns; `beside`: two tables side by side. A browser has printed them. */
export const printedNames: readonly string[] = [
  ...numberNames('browser', 60),
  ...numberNames('writer', 18),
  ...numberNames('calc', 10),
  ...numberNames('bare', 4),
  ...numberNames('beside', 4),
]

/** Reports as portals of laboratories and clinics print them, of which the files alone are stored. */
export const portalNames: readonly string[] = numberNames('portal', 6)
