import type { Module } from '../../platform/module/module.ts'
import type { AbnForm } from './abn-form.ts'
import { requisitionHook, requisitionPage, type RequisitionPageDependencies } from './requisition-links.ts'
import { documentsRoutes } from './routes.ts'
import { collectionInstructions } from './features.ts'

/** Process dependencies of documents. */
export interface DocumentDependencies extends RequisitionPageDependencies {
  /** The server's URL for browsers, without a final slash; empty if it is not configured. */
  publicUrl: () => string
  abnForm: AbnForm | undefined
}

export const documents = ({ vault, publicUrl, cells, findTenant, heavy, abnForm }: DocumentDependencies): Module => ({
  name: 'lab/documents',
  about: 'requisitions, labels, ABN, instructions',
  tag: 'documents',
  features: [collectionInstructions],
  operations: documentsRoutes({ heavy }, abnForm),
  pages: [requisitionPage({ cells, findTenant, vault, heavy })],
  hooks: [requisitionHook({ vault, publicUrl })],
})
