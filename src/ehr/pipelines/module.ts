import type { Module } from '../../platform/module/module.ts'
import { eraseTables } from '../../platform/db/erasure.ts'
import { encryptedPipelineSecretsColumn } from './pipelines.ts'
import { routes, type PipelineDependencies } from './routes.ts'

export const pipelines = (dependencies: PipelineDependencies): Module => ({
  name: 'ehr/pipelines',
  about: 'configuration of EHR systems that receive results; sends nothing',
  tag: 'ehr',
  tables: { others: ['ehr_pipeline'] },
  operations: routes(dependencies),
  encryptedColumns: [encryptedPipelineSecretsColumn],
  erasers: { team: eraseTables('ehr_pipeline') },
})
