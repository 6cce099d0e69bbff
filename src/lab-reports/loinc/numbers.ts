// Reads numbers of results. Pure.

export interface ReadNumber {
  value: number
  /** The value is only known to be below or above. */
  comparator: '<' | '>' | null
}

/**
 * Reads the number of a value: "<0.5", "1,234", "5,4", "1 234.5", "98 H". A comma before three digits separates thousands if there are no
 * decimals after it ("1,234"), else it is the decimal sign. Undefined for words, ranges, titers, times and ratios.
 */
export function readNumber(text: string): ReadNumber | undefined {
  const match =
    /^\s*(<=?|>=?|≤|≥)?\s*([+-]?\d[\d ,.']*|[+-]?[.,]\d+)(e[+-]?\d{1,2})?\s*(?:\*+|\(?[HL]{1,2}\)?\*?|%|↑|↓)?\s*$/i.exec(text)
  if (!match) return undefined
  const digits = match[2]!.replace(/[ ']/g, '')
  const plain = decimalPoint(digits)
  if (plain === undefined) return undefined
  const value = Number(`${plain}${match[3] ?? ''}`)
  if (!Number.isFinite(value)) return undefined
  const sign = match[1]
  return { value, comparator: sign === undefined ? null : /[<≤]/.test(sign) ? '<' : '>' }
}

function decimalPoint(digits: string): string | undefined {
  if (/^[+-]?\d*(?:\.\d+)?$/.test(digits) || /^[+-]?\d+\.$/.test(digits)) return digits
  if (/^[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/.test(digits)) return digits.replaceAll(',', '')
  if (/^[+-]?[1-9]\d{0,2}(?:\.\d{3})+,\d+$/.test(digits)) return digits.replaceAll('.', '').replace(',', '.')
  if (/^[+-]?\d*,\d+$/.test(digits)) return digits.replace(',', '.')
  // Indian grouping: 1,50,000
  if (/^[+-]?\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?$/.test(digits)) return digits.replaceAll(',', '')
  return undefined
}

/** "<5" says only that the value is below, so that a low bound that is passed means nothing. */
export function isWithin(value: number, comparator: '<' | '>' | null, low: number, high: number): boolean {
  const tolerance = 1e-9 * Math.max(1, Math.abs(high))
  return (comparator === '<' || value >= low - tolerance) && (comparator === '>' || value <= high + tolerance)
}
