import type { Module } from '../../platform/module/module.ts'
import { requisitionHook, requisitionPage, type RequisitionPageNeeds } from './requisition-links.ts'
import { routes } from './routes.ts'

/** What documents need of the process. */
export interface DocumentNeeds extends RequisitionPageNeeds {
  /** Where browsers reach this server, without a final slash; empty where nobody knows. */
  publicUrl: () => string
}

export const documents = ({ vault, publicUrl, cells, tenantOf, heavy }: DocumentNeeds): Module => ({
  name: 'lab/documents',
  tag: 'documents',
  operations: routes({ heavy }),
  pages: [requisitionPage({ cells, tenantOf, vault, heavy })],
  hooks: [requisitionHook({ vault, publicUrl })],
})
