// The text of an operator's file.
import { open, readFile } from 'node:fs/promises'
import { decodeUtf8 } from '../runtime/utf8.ts'
import { InvalidFileError } from './rejected-rows.ts'

/**
 * The text of a file in UTF-8, without a byte order mark. For files that are used as a whole; rows of others are refused one by one.
 * @throws InvalidFileError if the file is not UTF-8, with the first line that is not
 */
export async function readUtf8File(path: string): Promise<string> {
  const text = decodeUtf8(await readFile(path))
  if (text.isWellFormed()) return text.replace(/^\uFEFF/, '')
  const line = text.split('\n').findIndex((entry) => !entry.isWellFormed()) + 1
  throw new InvalidFileError(`The file is not UTF-8 at line ${line}. Nothing was imported.`)
}

/** Where the content of a file in UTF-8 begins: behind a byte order mark, if it has one. */
export async function contentStart(path: string): Promise<number> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(3), 0, 3, 0)
    return bytesRead === 3 && buffer.equals(Buffer.of(0xef, 0xbb, 0xbf)) ? 3 : 0
  } finally {
    await file.close()
  }
}
