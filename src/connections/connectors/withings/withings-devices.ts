// The devices that records of Withings name. Source: user v2, getdevice.
import { readNumber, readText, type Values } from '../reading.ts'
import { toDevice } from '../vendor-records.ts'
import type { IncomingDevice } from '../../../wearables/devices/devices.ts'
import type { SensorLocation } from '../../../wearables/resources/sample-details.ts'
import type { SourceType } from '../../../wearables/resources/timeseries.ts'

const models: Readonly<Record<number, string>> = {
  1: 'WBS01',
  2: 'WS30',
  3: 'Kid Scale',
  4: 'Smart Body Analyzer',
  5: 'Body+',
  6: 'Body Cardio',
  7: 'Body',
  9: 'Body Pro',
  10: 'Body Scan',
  11: 'WBS10',
  12: 'WBS11',
  18: 'Body Comp',
  41: 'Blood Pressure Monitor V1',
  42: 'Blood Pressure Monitor V2',
  43: 'Blood Pressure Monitor V3',
  44: 'BPM Core',
  45: 'BPM Connect',
  46: 'BPM Connect Pro',
  47: 'BPM Pro 2',
  48: 'BPM Vision',
  51: 'Pulse',
  52: 'Activite',
  53: 'Activite (Pop, Steel)',
  54: 'Withings Go',
  55: 'Activite Steel HR',
  58: 'Pulse HR',
  59: 'Activite Steel HR Sport Edition',
  60: 'Aura Dock',
  61: 'Aura Sensor',
  63: 'Aura Sensor V2',
  70: 'Thermo',
  71: 'BeamO',
  90: 'Move',
  91: 'Move ECG',
  92: 'Move ECG',
  93: 'ScanWatch',
  94: 'ScanWatch 2',
  95: 'ScanWatch Light',
}

/** The model of the device of a record is a text, or a number in one of three fields; nights have another number under `model`. */
function modelIn(record: Values): string | null {
  const numbered =
    readNumber(record.model_id) ?? readNumber(record.modelid) ?? (record.data === undefined ? null : readNumber(record.model))
  return readText(record.model) ?? (numbered === null ? null : (models[numbered] ?? null))
}

export const deviceIn = (record: Values, source_type: SourceType): IncomingDevice | null =>
  toDevice(source_type, { manufacturer: 'Withings', model: modelIn(record), device_id: record.deviceid ?? record.hash_deviceid })

/** Where the device of a record measures temperatures; null for one of which that is not known. */
export function placeOf(record: Values): SensorLocation | null {
  const model = modelIn(record) ?? ''
  if (model.startsWith('ScanWatch')) return 'wrist'
  return model === 'Thermo' || model === 'BeamO' ? 'temporal_artery' : null
}
