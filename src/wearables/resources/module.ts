import type { Module } from '../../platform/module/module.ts'
import { eventTypes } from './event-types.ts'

export const resources: Module = {
  name: 'wearables/resources',
  about: 'the resources as data, and the types of their events',
  eventTypes,
}
