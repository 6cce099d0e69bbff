// Runs a parser over documents of the corpus and adds up how well it read them.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { composeDocument, type Document } from './corpus/compose/document.ts'
import { createFiles, createFilesOfPrinted, kindsOfPrinted, type InputFile, type Kind } from './corpus/kinds.ts'
import type { Layout } from './corpus/language.ts'
import type { Printed } from './corpus/printed/all.ts'
import type { Truth } from './corpus/truth.ts'
import type { Written } from './corpus/written/parse.ts'
import { addFigures, compareReport, noFigures, type Comparison, type Figures, type ReadReport } from './metrics.ts'

/** The parser: the files of one report in, what it says out. */
export type Reader = (files: InputFile[]) => Promise<ReadReport>

export interface EvaluationOptions {
  layouts: readonly (Layout | Written | Printed)[]
  kinds: readonly Kind[]
  /** Of the first document of each layout and kind. */
  seed: number
  /** Documents for each layout and kind. */
  limit: number
  isInTable: (code: string) => boolean
  /** Instead of making each document: documents that others have made, too. */
  documentOf?: typeof makeDocument
  /** Folder for the documents and their truth. */
  keepIn?: string | undefined
  /** Called after each document; `error` if the reader threw. */
  onDocument?: (name: string, comparison: Comparison, error: Error | undefined) => void
}

export interface Evaluation {
  /** By layout, then kind. */
  byLayout: Map<string, Map<Kind, Figures>>
  byKind: Map<Kind, Figures>
}

export async function evaluate(read: Reader, options: EvaluationOptions): Promise<Evaluation> {
  const byLayout: Evaluation['byLayout'] = new Map()
  const byKind = new Map(options.kinds.map((kind) => [kind, noFigures()]))
  for (const layout of options.layouts) {
    const ofLayout = new Map<Kind, Figures>()
    byLayout.set(layout.name, ofLayout)
    for (const kind of options.kinds) {
      // A printed report is the same for every seed.
      if (isPrinted(layout) && !kindsOfPrinted.includes(kind)) continue
      const count = isPrinted(layout) ? 1 : options.limit
      const sum = noFigures()
      ofLayout.set(kind, sum)
      for (let seed = options.seed; seed < options.seed + count; seed++)
        addFigures(sum, await evaluateDocument(read, layout, kind, seed, options))
      addFigures(byKind.get(kind)!, sum)
    }
  }
  return { byLayout, byKind }
}

/** The document of a layout for a seed, and its files of a kind. */
export async function makeDocument(
  layout: Layout | Written,
  kind: Kind,
  seed: number,
): Promise<{ document: Document; files: InputFile[] }> {
  const document = composeDocument(layout, seed)
  return { document, files: await createFiles(document, kind) }
}

async function evaluateDocument(
  read: Reader,
  layout: Layout | Written | Printed,
  kind: Kind,
  seed: number,
  options: EvaluationOptions,
): Promise<Figures> {
  const { truth, files } = await readContents(layout, kind, seed, options)
  const name = `${layout.name}-${kind}-${seed}`
  if (options.keepIn !== undefined) keep(options.keepIn, name, files, truth)
  const start = performance.now()
  let error: Error | undefined
  const report = await read(files).catch((cause: unknown): ReadReport => {
    error = cause instanceof Error ? cause : new Error(String(cause))
    return { metadata: {}, results: [] }
  })
  const duration_ms = performance.now() - start
  const comparison = compareReport(truth, report, options.isInTable)
  options.onDocument?.(name, comparison, error)
  // A report that could not be read says so: none of its rows passes as right.
  const failure = error ? { failures: 1, caughtShare: { right: 0, total: 0 } } : {}
  return { ...comparison.figures, ...failure, duration_ms }
}

const isPrinted = (layout: Layout | Written | Printed): layout is Printed => 'pdf' in layout

async function readContents(
  layout: Layout | Written | Printed,
  kind: Kind,
  seed: number,
  { documentOf = makeDocument }: EvaluationOptions,
): Promise<{ truth: Truth; files: InputFile[] }> {
  if (isPrinted(layout)) return { truth: layout.truth, files: await createFilesOfPrinted(layout, kind) }
  const { document, files } = await documentOf(layout, kind, seed)
  return { truth: document.truth, files }
}

const EXTENSIONS = { 'application/pdf': 'pdf', 'image/jpeg': 'jpg', 'image/png': 'png' } as const

function keep(folder: string, name: string, files: readonly InputFile[], truth: unknown): void {
  mkdirSync(folder, { recursive: true })
  for (const [i, { bytes, type }] of files.entries())
    writeFileSync(join(folder, `${name}${files.length > 1 ? `-${i + 1}` : ''}.${EXTENSIONS[type]}`), bytes)
  writeFileSync(join(folder, `${name}.truth.json`), `${JSON.stringify(truth, null, 2)}\n`)
}
