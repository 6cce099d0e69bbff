// Documents of the corpus that several tests of a process look at: each is made once.
import type { Layout } from '../../eval/corpus/language.ts'
import type { Kind } from '../../eval/corpus/kinds.ts'
import type { Written } from '../../eval/corpus/written/parse.ts'
import { makeDocument } from '../../eval/evaluate.ts'

const made = new Map<string, ReturnType<typeof makeDocument>>()

export function createCorpusDocument(layout: Layout | Written, kind: Kind, seed: number): ReturnType<typeof makeDocument> {
  const name = `${layout.name} ${kind} ${seed}`
  const known = made.get(name) ?? makeDocument(layout, kind, seed)
  made.set(name, known)
  return known
}
