import type { Module } from '../../platform/module/module.ts'
import { eraseTeamPipelines, encryptedPipelineSecretsColumn } from './pipelines.ts'
import { routes, type PipelineNeeds } from './routes.ts'

export const pipelines = (needs: PipelineNeeds): Module => ({
  name: 'ehr/pipelines',
  tag: 'ehr',
  tables: { others: ['ehr_pipeline'] },
  operations: routes(needs),
  sealedColumns: [encryptedPipelineSecretsColumn],
  erasers: { team: eraseTeamPipelines },
})
