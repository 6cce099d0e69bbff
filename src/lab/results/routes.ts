import { renderPdf as drawn } from '../../platform/pdf/render.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import type { WorkerPool } from '../../platform/runtime/worker-pool.ts'
import type { MultiTransactionContext } from '../../platform/http/operation.ts'
import { operation, multiTransactionOperation, pdf, type FileReply } from '../../platform/http/operation.ts'
import { notFound } from '../../platform/http/errors.ts'
import { Fields, Uuid } from '../../platform/schema/schema.ts'
import type { ReportContent } from './report-content.ts'
import { getResult, getResultMetadata, getResultPdf, getTransactionResult, getTransactionResultPdf } from './results.ts'
import { LabResults, LabResultsMetadata, ResultDocuments } from './schema.ts'
import { findDocument, listDocuments } from './lab-documents.ts'

const ofOrder = Fields({ order_id: Uuid })
const ofDocument = Fields({ order_id: Uuid, document_id: Uuid })
const ofTransaction = Fields({ transaction_id: Uuid })

const reportTask = new URL('report-pdf.task.ts', import.meta.url)

const renderReportPdf = (pool: WorkerPool, context: MultiTransactionContext, read: (tx: Tx) => Promise<ReportContent>) =>
  drawn(pool, context, { url: reportTask }, async (tx) => {
    const { name, report } = await read(tx)
    return { name, input: report }
  })

/** The laboratory's own document, if one was uploaded. */
const labProvidedPdf = ({ tenant, cells }: MultiTransactionContext, order_id: string): Promise<FileReply | undefined> =>
  cells.db(tenant.cell).read(tenant, (tx) => findDocument(tx, order_id))

const ofResult = { logsAccess: true, method: 'GET' } as const

export const resultsRoutes = (pool: WorkerPool) => [
  operation({
    ...ofResult,
    id: 'get_lab_test_result_raw',
    path: '/v3/order/{order_id}/result',
    summary: 'Read the result of an order',
    description: 'Available from the first report of the laboratory, including partial reports.',
    params: ofOrder,
    reply: LabResults,
    run: (tx, { params }) => getResult(tx, params.order_id),
  }),
  operation({
    ...ofResult,
    id: 'get_lab_test_result_metadata',
    path: '/v3/order/{order_id}/result/metadata',
    summary: 'Get result metadata',
    params: ofOrder,
    reply: LabResultsMetadata,
    run: (tx, { params }) => getResultMetadata(tx, params.order_id),
  }),
  multiTransactionOperation({
    ...ofResult,
    id: 'get_lab_test_result',
    path: '/v3/order/{order_id}/result/pdf',
    summary: 'Get the result of an order as PDF',
    description:
      "The laboratory's own document if one came with the present report or was uploaded for it, the last of several; else a generated one.",
    params: ofOrder,
    reply: pdf,
    run: async (context, { params }) =>
      (await labProvidedPdf(context, params.order_id)) ??
      renderReportPdf(pool, context, (tx) => getResultPdf(tx, params.order_id)),
  }),
  operation({
    ...ofResult,
    id: 'list_lab_test_result_documents',
    path: '/v3/order/{order_id}/result/documents',
    summary: "List the laboratory's own documents of an order's result, newest first",
    description: 'The newest PDF of each report of the laboratory, and one that staff uploaded: at most 100.',
    params: ofOrder,
    reply: ResultDocuments,
    run: (tx, { params }) => listDocuments(tx, params.order_id),
  }),
  operation({
    ...ofResult,
    id: 'get_lab_test_result_document',
    path: '/v3/order/{order_id}/result/documents/{document_id}',
    summary: "Get one of the laboratory's own documents of an order's result as PDF",
    params: ofDocument,
    reply: pdf,
    run: async (tx, { params }) => {
      const document = await findDocument(tx, params.order_id, params.document_id)
      if (!document) throw notFound('Document not found')
      return document
    },
  }),
  operation({
    ...ofResult,
    id: 'get_order_transaction_result',
    path: '/v3/order_transaction/{transaction_id}/result',
    summary: 'Get the combined result of an order transaction',
    params: ofTransaction,
    reply: LabResults,
    run: (tx, { params }) => getTransactionResult(tx, params.transaction_id),
  }),
  multiTransactionOperation({
    ...ofResult,
    id: 'get_order_transaction_result_pdf',
    path: '/v3/order_transaction/{transaction_id}/result/pdf',
    summary: 'Get the results of all orders of a transaction as one document',
    params: ofTransaction,
    reply: pdf,
    run: (context, { params }) => renderReportPdf(pool, context, (tx) => getTransactionResultPdf(tx, params.transaction_id)),
  }),
]
