import type { Module } from '../../platform/module/module.ts'
import { eraseTeamPipelines, sealedPipelineSecrets } from './pipelines.ts'
import { routes, type PipelineNeeds } from './routes.ts'

export const pipelines = (needs: PipelineNeeds): Module => ({
  name: 'ehr/pipelines',
  tag: 'ehr',
  tables: { others: ['ehr_pipeline'] },
  operations: routes(needs),
  sealedColumns: [sealedPipelineSecrets],
  erasers: { team: eraseTeamPipelines },
})
