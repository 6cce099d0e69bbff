import { operation } from '../../platform/http/operation.ts'
import { Fields, T, Uuid } from '../../platform/schema/schema.ts'
import { providerFilter } from '../resources/range-query.ts'
import { Device, listDevices, listRawDevices, readDevice } from './devices.ts'

const RawDevice = Fields(
  {
    id: Uuid,
    user_id: Uuid,
    data: T.Record(T.String(), T.Unknown()),
    provider_id: T.String(),
    source_id: T.Integer(),
    source: Fields({ name: T.String(), slug: T.String(), logo: T.String() }, { title: 'RawSource' }),
  },
  { title: 'RawDevice' },
)

const ofUser = { logsAccess: true, method: 'GET', userTokens: 'path' } as const

export const devicesRoutes = [
  operation({
    ...ofUser,
    id: 'get_user_devices',
    path: '/v2/user/{user_id}/device',
    summary: 'List the devices that recorded data of a user',
    description: 'The first recorded first, at most 1,000.',
    params: Fields({ user_id: Uuid }),
    reply: T.Array(Device),
    run: (tx, { params }) => listDevices(tx, params.user_id),
  }),
  operation({
    ...ofUser,
    id: 'get_devices_raw',
    deprecated: true,
    path: '/v2/summary/devices/{user_id}/raw',
    summary: 'List the devices that recorded data of a user, in the form of raw records',
    params: Fields({ user_id: Uuid }),
    query: Fields({ provider: providerFilter }),
    reply: Fields({ devices: T.Array(RawDevice) }, { title: 'RawDeviceList' }),
    run: async (tx, { params, query }) => ({
      devices: await listRawDevices(tx, params.user_id, query.provider || undefined),
    }),
  }),
  operation({
    ...ofUser,
    id: 'get_user_device',
    path: '/v2/user/{user_id}/device/{device_id}',
    summary: 'Show a device that recorded data of a user',
    params: Fields({ user_id: Uuid, device_id: Uuid }),
    reply: Device,
    run: (tx, { params }) => readDevice(tx, params.user_id, params.device_id),
  }),
]
