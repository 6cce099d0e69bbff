// What threads of the server do with uploaded files, for files that a test has damaged: opened, read and drawn as in the server, but without the
// reading of pictures, which takes seconds. Only threads import it.
import type { PageText } from '../../src/lab-reports/pages/page.ts'
import { pageText } from '../../src/lab-reports/pages/pdf-text.ts'
import { withDocument } from '../../src/lab-reports/pages/pdf.ts'
import { drawPageAsPng, inspectFiles, type Inspection } from '../../src/lab-reports/reading/file.task.ts'
import { isEnglish } from '../../src/lab-reports/reading/language.ts'
import { type ReadReport, type ReportFile, understand } from '../../src/lab-reports/reading/read-report.ts'

export interface Outcome {
  inspection: Inspection
  report?: ReadReport
  /** The class of an error of the stage of reading, which lets a job fail. */
  failure?: string
  isDrawn?: boolean
}

/** Opens a file; reads it if it can be opened, and draws its first page if `draws`. */
export default async function open({ file, draws }: { file: ReportFile; draws: boolean }): Promise<Outcome> {
  const inspection = await inspectFiles([file])
  if ('problem' in inspection) return { inspection }
  const outcome: Outcome = { inspection }
  try {
    if (file.type === 'application/pdf') outcome.report = await read(file)
  } catch (error) {
    outcome.failure = (error as Error).name
  }
  if (draws) outcome.isDrawn = await isDrawn(file)
  return outcome
}

function read({ bytes }: ReportFile): Promise<ReadReport> {
  return withDocument(bytes, async (document) => {
    const pages: PageText[] = []
    for (let number = 1; number <= document.numPages; number++) pages.push(await pageText(await document.getPage(number)))
    const text = JSON.stringify(pages, (_name, value: unknown) => (typeof value === 'function' ? null : value))
    const report = understood.get(text) ?? (isEnglish(pages), understand(pages))
    understood.set(text, report)
    return report
  })
}

/** Most damages leave the text as it was, and what is made of the same pages is the same. */
const understood = new Map<string, ReadReport>()

const isDrawn = (file: ReportFile): Promise<boolean> =>
  drawPageAsPng({ file, page: 1 }).then(
    () => true,
    () => false,
  )
