// What of an operator's file was not taken, and why: counted whole, told as far as people read.

const SHOWN_MAX = 50

export class RejectedRows {
  readonly #shown: string[] = []
  count = 0

  /** @param where such as `line 7` @param reasons at least one; they say what is wrong, not what was written */
  add(where: string, reasons: readonly string[]): void {
    this.count++
    if (this.#shown.length < SHOWN_MAX) this.#shown.push(`  ${where}: ${reasons.join('; ')}\n`)
  }

  /** Lines to be printed; empty when everything was taken. */
  text(): string {
    if (this.count === 0) return ''
    const more = this.count - this.#shown.length
    return [`${this.count} not taken:\n`, ...this.#shown, ...(more ? [`  … and ${more} more\n`] : [])].join('')
  }
}

/** What an import prints; with rejections it has failed in part. */
export const taken = (printed: string, rejected: number): { printed: string; failure: string | undefined } => ({
  printed,
  failure: rejected ? `${rejected} of the file not taken; the rest was.` : undefined,
})

/** A file cannot be used at all; the message says why, without its content. Nothing of it was taken. */
export class InvalidFileError extends Error {}

/** `error` as a sentence, where it says that a file cannot be read. */
export function toInvalidFileError(error: unknown): InvalidFileError | undefined {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new InvalidFileError('File not found.')
  if (code === 'EISDIR') return new InvalidFileError('The path is a directory, not a file.')
  return code === 'EACCES' || code === 'EPERM' ? new InvalidFileError('Permission denied.') : undefined
}
