// The devices that records of Withings name. Source: user v2, getdevice.
import { number, text, type Values } from '../reading.ts'
import { deviceOf } from '../records.ts'
import type { IncomingDevice } from '../../../wearables/devices/devices.ts'
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

/** The device of a record. Its model is a text, or a number in one of three fields; nights have another number under `model`. */
export function deviceIn(sent: Values, source_type: SourceType): IncomingDevice | null {
  const numbered = number(sent.model_id) ?? number(sent.modelid) ?? (sent.data === undefined ? null : number(sent.model))
  const model = text(sent.model) ?? (numbered === null ? null : (models[numbered] ?? null))
  return deviceOf(source_type, { manufacturer: 'Withings', model, device_id: sent.deviceid ?? sent.hash_deviceid })
}
