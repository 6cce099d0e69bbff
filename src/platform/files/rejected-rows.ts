// The rejected rows of an operator's file, with reasons: all are counted, the first ones are printed.

const SHOWN_MAX = 50

export class RejectedRows {
  readonly #shown: string[] = []
  count = 0

  /** @param where such as `line 7` @param reasons at least one; they say what is wrong without repeating the value */
  add(where: string, reasons: readonly string[]): void {
    this.count++
    if (this.#shown.length < SHOWN_MAX) this.#shown.push(`  ${where}: ${reasons.join('; ')}\n`)
  }

  /** Lines to be printed; empty if everything was imported. */
  text(): string {
    if (this.count === 0) return ''
    const more = this.count - this.#shown.length
    return [`${this.count} rejected:\n`, ...this.#shown, ...(more ? [`  … and ${more} more\n`] : [])].join('')
  }
}

/** The output of an import; with rejections the import has partly failed. */
export const importOutcome = (output: string, rejectedCount: number): { output: string; failure: string | undefined } => ({
  output,
  failure: rejectedCount ? `${rejectedCount} of the file rejected; the rest was imported.` : undefined,
})

/** A file cannot be used at all; the message says why, without its content. Nothing of it was imported. */
export class InvalidFileError extends Error {}

/** `error` as a sentence, if it means that a file cannot be read. */
export function toInvalidFileError(error: unknown): InvalidFileError | undefined {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new InvalidFileError('File not found.')
  if (code === 'EISDIR') return new InvalidFileError('The path is a directory, not a file.')
  return code === 'EACCES' || code === 'EPERM' ? new InvalidFileError('Permission denied.') : undefined
}
