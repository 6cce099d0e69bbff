/** The worker task that renders a laboratory report. Only workers import it, so that the server itself never loads the PDF library. */
import { lowerPriority } from '../../platform/runtime/low-priority.ts'
import { renderReport, type Report } from './report-pdf.ts'

lowerPriority('waited')

export default (report: Report): Promise<Uint8Array> => renderReport(report)
