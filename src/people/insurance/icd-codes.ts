// ICD-10-CM codes as text: parsed, stored and displayed forms. Pure.

/** The format of a code, without its dot. The table determines which codes exist. */
const CODE = /^[A-Z][0-9][0-9A-Z][0-9A-Z]{0,4}$/

/**
 * Returns a code as it is stored, in upper case without the dot; undefined for an invalid one. The dot is optional, and allowed only in its
 * position.
 */
export function toStoredCode(text: string): string | undefined {
  const code = text.trim().toUpperCase()
  const plain = code[3] === '.' && code.length > 4 ? code.slice(0, 3) + code.slice(4) : code
  return CODE.test(plain) ? plain : undefined
}

/** Returns a stored code with its dot. */
export const toDisplayCode = (code: string): string => (code.length > 3 ? `${code.slice(0, 3)}.${code.slice(3)}` : code)

/**
 * Whether the title of a diagnosis says that another disease causes it; such a diagnosis is never listed first. Source: ICD-10-CM
 * guidelines, I.A.13.
 */
export const isSecondary = (description: string): boolean => /\bin (other )?diseases classified elsewhere\b/i.test(description)

/** Returns every prefix of a code that exclusions can use, including the code. */
export const codePrefixes = (code: string): string[] =>
  Array.from({ length: Math.max(0, code.length - 2) }, (_, i) => code.slice(0, i + 3))
