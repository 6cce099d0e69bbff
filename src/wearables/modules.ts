// The modules of health data, from the bottom up.
import type { Module } from '../platform/module/module.ts'
import { eraseTables, eraseTablesOfUser } from '../platform/db/erasure.ts'
import { eraseDevices } from './devices/devices.ts'
import { devicesRoutes } from './devices/routes.ts'
import { ingestion, type IngestionDependencies } from './ingestion/module.ts'
import { queries } from './queries/module.ts'
import { eventTypes as resourcesEventTypes } from './resources/event-types.ts'
import type { RetentionDependencies } from './retention/expired-data.ts'
import { retention } from './retention/module.ts'
import { streamsRoutes } from './streams/routes.ts'
import { summaries } from './summaries/module.ts'
import { eraseSamples } from './timeseries/chunks.ts'
import { timeseriesRoutes } from './timeseries/routes.ts'

export const wearables = (dependencies: IngestionDependencies & RetentionDependencies): Module[] => [
  {
    name: 'wearables/resources',
    about: 'the resources as data',
    eventTypes: resourcesEventTypes,
  },
  {
    name: 'wearables/devices',
    about: 'devices of users',
    tag: 'devices',
    tables: { ofTeams: ['device'] },
    operations: devicesRoutes,
    erasers: { user: eraseDevices, team: eraseTables('device') },
  },
  summaries,
  {
    name: 'wearables/timeseries',
    about: 'samples in chunks, and their reads',
    tag: 'timeseries',
    tables: { ofTeams: ['series', 'chunk'] },
    operations: timeseriesRoutes,
    erasers: { user: eraseSamples, team: eraseTables('chunk', 'series') },
  },
  {
    name: 'wearables/streams',
    about: 'streams of workouts',
    tag: 'streams',
    tables: { ofTeams: ['workout_stream'] },
    operations: streamsRoutes,
    erasers: { user: eraseTablesOfUser('workout_stream'), team: eraseTables('workout_stream') },
  },
  ingestion(dependencies),
  queries,
  retention(dependencies),
]
