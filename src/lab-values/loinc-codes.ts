// The form of LOINC codes. Pure.

/**
 * Whether a code has the form of LOINC's and the right check digit (modulus 10, double-add-double). Source: LOINC Users' Guide, appendix
 * "Calculating Mod 10 check digits".
 */
export function hasCheckDigit(code: string): boolean {
  const match = /^(\d{1,7})-(\d)$/.exec(code)
  if (!match) return false
  const digits = [...match[1]!].reverse().map(Number)
  const sum = digits.reduce((total, digit, i) => {
    const part = i % 2 === 0 ? digit * 2 : digit
    return total + (part > 9 ? part - 9 : part)
  }, 0)
  return (10 - (sum % 10)) % 10 === Number(match[2])
}
