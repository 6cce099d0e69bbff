/** The worker task that renders the documents of an order. Only workers import it, so that the server itself never loads the PDF library. */
import { lowerPriority } from '../../platform/runtime/low-priority.ts'

export { renderInstructions as instructions } from './instructions-page.ts'
export { renderLabels as labels } from './labels-page.ts'
export { renderAbn as notice } from './abn-page.ts'
export { checkAbnForm, fillAbnForm } from './abn-form.ts'
export { renderRequisition as requisition } from './requisition-page.ts'

lowerPriority('waited')
