import { eraseTables } from '../../platform/db/erasure.ts'
import type { Module } from '../../platform/module/module.ts'
import { eraseDevices } from './devices.ts'
import { routes } from './routes.ts'

export const devices: Module = {
  name: 'wearables/devices',
  about: 'the devices that recorded the data of users',
  tag: 'devices',
  tables: { ofTeams: ['device'] },
  operations: routes,
  erasers: { user: async (tx, user_id) => void (await eraseDevices(tx, user_id)), team: eraseTables('device') },
}
