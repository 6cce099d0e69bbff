// The tasks of the child processes that read uploaded files. Only they import it.
import { OcrUnavailable } from '../ocr/engine.ts'
import { TooManyLayers } from '../pages/layers.ts'
import { UnreadableDocument } from '../pages/pdf.ts'
import { UnreadablePicture } from '../pages/pictures.ts'
import { explain, type ExplainOptions, type Explained } from './explain.ts'
import type { Term } from '../loinc/terms.ts'
import { ReportError, readReport, withReleaseTerms, type ReadReport, type ReportFile, type ReportFailure } from './read-report.ts'

/** `unavailable`: why the server cannot read pictures. */
export type ReadOutcome = { report: ReadReport } | { failure: ReportFailure } | { unavailable: string }

/** What each stage of reading makes of a file. */
export const explainFile = ({ file, ...options }: ExplainOptions & { file: ReportFile }): Promise<Explained> =>
  explain(file, options)

/** A report with further candidates. */
export const addReleaseTerms = ({ report, terms }: { report: ReadReport; terms: Map<string, Term[]> }): ReadReport =>
  withReleaseTerms(report, terms)

/** What a child process reads. */
export interface Reading {
  files: ReportFile[]
  /** Folder with other networks of the text recognition. */
  ocr_models?: string | undefined
}

/** Reads a report. Errors: what no file should cause. */
export default async function readFiles({ files, ocr_models }: Reading): Promise<ReadOutcome> {
  try {
    return { report: await readReport(files, { models: ocr_models }) }
  } catch (error) {
    if (error instanceof ReportError) return { failure: error.failure }
    if (error instanceof UnreadableDocument)
      return { failure: error.reason === 'too_many_pages' ? 'too_many_pages' : 'invalid_input' }
    // Errors that leave a child process lose their class.
    if (error instanceof OcrUnavailable) return { unavailable: error.message }
    if (error instanceof UnreadablePicture || error instanceof TooManyLayers) return { failure: 'invalid_input' }
    throw error
  }
}
