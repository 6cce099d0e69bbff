// Codes of ICD-10-CM as text: how they are written, kept and shown. Pure.

/** What a code may look like, without its dot. Which there are, the table says. */
const CODE = /^[A-Z][0-9][0-9A-Z][0-9A-Z]{0,4}$/

/** A code as it is kept, capitals without the dot; undefined for what cannot be one. The dot may be left out, and stands nowhere else. */
export function toStoredCode(text: string): string | undefined {
  const code = text.trim().toUpperCase()
  const plain = code[3] === '.' && code.length > 4 ? code.slice(0, 3) + code.slice(4) : code
  return CODE.test(plain) ? plain : undefined
}

/** A kept code as people write it. */
export const toDisplayCode = (code: string): string => (code.length > 3 ? `${code.slice(0, 3)}.${code.slice(3)}` : code)

/** Whether a diagnosis is by its title one that another has caused, and never stands first. Source: ICD-10-CM guidelines, I.A.13. */
export const isSecondary = (description: string): boolean => /\bin (other )?diseases classified elsewhere\b/i.test(description)

/** Every beginning of a code that exclusions can name, itself included. */
export const codePrefixes = (code: string): string[] =>
  Array.from({ length: Math.max(0, code.length - 2) }, (_, i) => code.slice(0, i + 3))
