// The tasks of the child processes that open uploaded files for requests: without what reads reports, so that a process starts soon and is
// small. Only they import it.
import { inspect, type Inspection } from './inspect.ts'
import { pagePicture } from './page-picture.ts'
import type { ReportFile } from './read-report.ts'

/** Whether the files can be read, and how many pages they have. */
export const inspectFiles = (files: ReportFile[]): Promise<Inspection> => inspect(files)

/** The picture of a page as PNG. */
export const drawPageOf = ({ file, page }: { file: ReportFile; page: number }): Promise<Uint8Array> => pagePicture(file, page)
