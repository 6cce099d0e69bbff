import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { encryptedPipelineSecretsColumn } from './pipelines.ts'
import { routes, type PipelineDependencies } from './routes.ts'

export const pipelines = (dependencies: PipelineDependencies): Module => ({
  name: 'ehr/pipelines',
  about: 'where results are to be sent, kept and shown',
  tag: 'ehr',
  tables: { others: ['ehr_pipeline'] },
  operations: routes(dependencies),
  encryptedColumns: [encryptedPipelineSecretsColumn],
  erasers: { team: eraseTables('ehr_pipeline') },
})
