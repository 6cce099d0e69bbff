import { operation } from '../../platform/http/operation.ts'
import { Fields, T, Uuid } from '../../platform/schema/schema.ts'
import { Device, listDevices, readDevice } from './devices.ts'

export const routes = [
  operation({
    id: 'get_user_devices',
    patients: true,
    method: 'GET',
    path: '/v2/user/{user_id}/device',
    summary: 'List the devices that recorded data of a user',
    description: 'The first recorded first, at most 1,000.',
    params: Fields({ user_id: Uuid }),
    reply: T.Array(Device),
    run: (tx, { params }) => listDevices(tx, params.user_id),
  }),
  operation({
    id: 'get_user_device',
    patients: true,
    method: 'GET',
    path: '/v2/user/{user_id}/device/{device_id}',
    summary: 'Show a device that recorded data of a user',
    params: Fields({ user_id: Uuid, device_id: Uuid }),
    reply: Device,
    run: (tx, { params }) => readDevice(tx, params.user_id, params.device_id),
  }),
]
