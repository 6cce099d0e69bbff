// Every written report of the corpus, read from the texts beside.
import { readdirSync, readFileSync } from 'node:fs'
import { parseWritten, type Written } from './parse.ts'

const folder = new URL('./', import.meta.url)

export const writtenDocuments: readonly Written[] = readdirSync(folder)
  .filter((file) => file.endsWith('.txt'))
  .toSorted()
  .map((file) => parseWritten(file.slice(0, -'.txt'.length), readFileSync(new URL(file, folder), 'utf8')))
