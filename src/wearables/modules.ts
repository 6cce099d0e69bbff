// The modules of health data, from the bottom up.
import type { Module } from '../platform/module/module.ts'
import { devices } from './devices/module.ts'
import { ingestion, type IngestionDependencies } from './ingestion/module.ts'
import { queries } from './queries/module.ts'
import { resources } from './resources/module.ts'
import type { RetentionDependencies } from './retention/expired-data.ts'
import { retention } from './retention/module.ts'
import { streams } from './streams/module.ts'
import { summaries } from './summaries/module.ts'
import { timeseries } from './timeseries/module.ts'

export const wearables = (dependencies: IngestionDependencies & RetentionDependencies): Module[] => [
  resources,
  devices,
  summaries,
  timeseries,
  streams,
  ingestion(dependencies),
  queries,
  retention(dependencies),
]
