import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { encryptedPipelineSecretsColumn } from './pipelines.ts'
import { routes, type PipelineNeeds } from './routes.ts'

export const pipelines = (needs: PipelineNeeds): Module => ({
  name: 'ehr/pipelines',
  tag: 'ehr',
  tables: { others: ['ehr_pipeline'] },
  operations: routes(needs),
  sealedColumns: [encryptedPipelineSecretsColumn],
  erasers: { team: eraseTables('ehr_pipeline') },
})
