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

/**
 * Reports of which the files alone are stored: those that portals of laboratories and clinics print, tables with units, ranges and notes
 * below names and results, and forms that laboratories of several countries print every day (`everyday`, of which 20 are held out, and `form`).
 */
export const storedNames: readonly string[] = [
  ...numberNames('portal', 6),
  ...numberNames('below', 5),
  ...numberNames('everyday', 44),
  ...numberNames('form', 148),
]
