import { renderPdf, type RenderJob } from '../../platform/pdf/render.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { WorkerPool } from '../../platform/runtime/worker-pool.ts'
import type { MultiTransactionContext } from '../../platform/http/operation.ts'
import { multiTransactionOperation, pdf, type Operation } from '../../platform/http/operation.ts'
import { collectionInstructions } from './features.ts'
import { getOrderInstructions, getTestInstructions } from './instructions.ts'
import { getLabels } from './labels.ts'
import { getAbn } from './abn.ts'
import type { AbnForm } from './abn-form.ts'
import { getRequisition } from './requisitions.ts'
import { LabelsQuery, LabTestParams, OrderParams } from './schema.ts'

const url = new URL('documents.task.ts', import.meta.url)

/** Dependencies for rendering: the worker pool. */
export interface RenderDependencies {
  heavy: WorkerPool
}

/** Checks that the operator's form for notices can be filled in. Errors: Error with what is wrong with it. */
export const checkForm = (heavy: WorkerPool, form: AbnForm): Promise<true> => heavy.run(url, form, { name: 'checkAbnForm' })

/** Renders the requisition of an order. Errors: 404 and 503 of its parts. */
export const renderRequisitionPdf = ({ heavy }: RenderDependencies, context: MultiTransactionContext, order_id: string) =>
  renderPdf(heavy, context, { url, name: 'requisition' }, (tx) => getRequisition(tx, order_id))

const ofOrder = { logsAccess: true, method: 'GET', params: OrderParams, reply: pdf } as const

/**
 * @param abnForm the operator's form for notices
 */
export const documentsRoutes = (dependencies: RenderDependencies, abnForm: AbnForm | undefined): Operation[] => {
  const renderOperation = (name: string, context: MultiTransactionContext, read: (tx: Tx) => Promise<RenderJob>) =>
    renderPdf(dependencies.heavy, context, { url, name }, read)
  return [
    multiTransactionOperation({
      ...ofOrder,
      id: 'get_order_requisition_url',
      path: '/v3/order/{order_id}/requisition/pdf',
      summary: 'Get the requisition of an order as PDF',
      description: 'Available once the requisition has been created; imported orders have none.',
      run: (context, { params }) => renderRequisitionPdf(dependencies, context, params.order_id),
    }),
    multiTransactionOperation({
      ...ofOrder,
      id: 'get_order_labels',
      path: '/v3/order/{order_id}/labels/pdf',
      summary: 'Get specimen labels of an order as PDF',
      description: 'One label per page, 2.25 by 1.25 inches. Available once the order has a sample id.',
      query: LabelsQuery,
      run: (context, { params, query }) => renderOperation('labels', context, (tx) => getLabels(tx, params.order_id, query)),
    }),
    multiTransactionOperation({
      ...ofOrder,
      id: 'get_order_abn',
      path: '/v3/order/{order_id}/abn_pdf',
      summary: 'Get the advance beneficiary notice of an order as PDF',
      description: 'Available only if `has_abn` is true, and in production if the operator has set a form.',
      run: (context, { params }) =>
        renderOperation(abnForm ? 'fillAbnForm' : 'notice', context, async (tx) => {
          const { name, input: notice } = await getAbn(tx, params.order_id, abnForm)
          return { name, input: abnForm ? { form: abnForm, notice } : notice }
        }),
    }),
    multiTransactionOperation({
      ...ofOrder,
      id: 'get_order_collection_instructions_url',
      path: '/v3/order/{order_id}/collection_instruction_pdf',
      summary: 'Get the collection instructions of an order as a document',
      description: 'Available only if `has_collection_instructions` of its lab test is true.',
      feature: collectionInstructions,
      run: (context, { params }) => renderOperation('instructions', context, (tx) => getOrderInstructions(tx, params.order_id)),
    }),
    multiTransactionOperation({
      id: 'get_lab_test_collection_instructions_url',
      logsAccess: false,
      method: 'GET',
      path: '/v3/lab_test/{lab_test_id}/collection_instruction_pdf',
      summary: 'Get the collection instructions of a lab test as a document',
      description: 'Available only if its `has_collection_instructions` is true.',
      params: LabTestParams,
      reply: pdf,
      feature: collectionInstructions,
      run: (context, { params }) => renderOperation('instructions', context, (tx) => getTestInstructions(tx, params.lab_test_id)),
    }),
  ]
}
