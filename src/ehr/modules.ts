// The modules of health records.
import type { Module } from '../platform/module/module.ts'
import { pipelines } from './pipelines/module.ts'
import type { PipelineNeeds } from './pipelines/routes.ts'

export const ehr = (needs: PipelineNeeds): Module[] => [pipelines(needs)]
