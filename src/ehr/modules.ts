// The modules of health records.
import type { Module } from '../platform/module/module.ts'
import { pipelines } from './pipelines/module.ts'
import type { PipelineDependencies } from './pipelines/routes.ts'

export const ehr = (dependencies: PipelineDependencies): Module[] => [pipelines(dependencies)]
