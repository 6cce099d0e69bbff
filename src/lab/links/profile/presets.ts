// Presets: the options that laboratories of one kind share. A profile is a preset and its differences from it.
import type { ProfileOptions } from './link-profile.ts'

export const presetNames = ['loi-lri-251', 'ihe-ltw', 'us-23', 'us-22', 'au-24', 'de-25'] as const
export type PresetName = (typeof presetNames)[number]

interface Preset {
  title: string
  options: ProfileOptions
}

/** What both older versions of the United States share. */
const usOptions: ProfileOptions = {
  text: { decimal_mark: '.', charset: 'ASCII', sent_charset: 'ASCII', transliterates: true },
  patient: { id_fields: ['PID-2', 'PID-3'], name_case: 'upper', phone: 'us' },
  order_number: { fields: ['ORC-2.1', 'OBR-2.1', 'ORC-4.1'] },
  order_content: {
    message: 'ORM',
    answers: 'obx',
    diagnosis_system: 'I10',
    priority_field: 'OBR-27',
    specimen: 'OBR-15',
    account_fields: ['PID-18'],
    account_name_fields: [],
  },
  results: { performing_laboratory: 'OBX-15' },
}

/** The laboratory bills neither patient nor insurance. */
const withoutBilling = { insurance: 'none', billing_values: {}, guarantor: 'none' } as const

export const presets: Record<PresetName, Preset> = {
  'loi-lri-251': {
    title: 'HL7 2.5.1 with the guides LOI for orders and LRI for results, United States',
    options: {
      identity: { version: '2.5.1', profile_ids: ['LOI_NG_PRU_Profile^^2.16.840.1.113883.9.87^ISO'] },
      acknowledgment: { mode: 'enhanced', accept_condition: 'AL', application_condition: 'AL' },
      text: { decimal_mark: '.' },
      patient: {
        // Of the tables 0005 and 0189.
        race_codes: {
          african_american_or_black: '2054-5',
          asian: '2028-9',
          indigenous_native_american_alaska_native: '1002-5',
          other: '2131-1',
          pacific_islander_or_hawaiian: '2076-8',
          white_caucasian: '2106-3',
        },
        ethnicity_codes: { hispanic: 'H', non_hispanic: 'N' },
      },
      order_number: { per_test: true },
      order_content: { message: 'OML', answers: 'obx', diagnoses: 'test', priority_field: 'TQ1', specimen: 'SPM' },
      results: { performing_laboratory: 'OBX-23' },
    },
  },
  'ihe-ltw': {
    title: 'HL7 2.5.1 as the IHE profile Laboratory Testing Workflow has it',
    options: {
      identity: { version: '2.5.1' },
      acknowledgment: { mode: 'original' },
      order_content: {
        message: 'OML',
        diagnoses: 'none',
        ...withoutBilling,
        priority_field: 'TQ1',
        specimen: 'SPM',
      },
    },
  },
  'us-23': { title: 'HL7 2.3, United States', options: { ...usOptions, identity: { version: '2.3' } } },
  'us-22': {
    title: 'HL7 2.2, United States',
    options: {
      ...usOptions,
      identity: { version: '2.2' },
      order_content: { ...usOptions.order_content, test_code: 'fourth', priority_field: 'OBR-5' },
      results: { ...usOptions.results, documents: 'none' },
    },
  },
  'au-24': {
    title: 'HL7 2.4 as AS 4700.2 has it, Australia',
    options: {
      identity: { version: '2.4' },
      text: { decimal_mark: '.' },
      order_content: {
        message: 'ORM',
        diagnoses: 'none',
        ...withoutBilling,
        priority_field: 'OBR-27',
        specimen: 'OBR-15',
        copies: 'OBR-28',
      },
      results: { performing_laboratory: 'OBX-15' },
    },
  },
  'de-25': {
    title: 'HL7 2.5 with decimal commas, Germany',
    options: {
      identity: { version: '2.5' },
      text: { decimal_mark: ',', time_zone: 'Europe/Berlin', charset: '8859/1', sent_charset: '8859/1' },
      order_content: {
        message: 'OML',
        diagnosis_system: 'I10',
        ...withoutBilling,
        specimen: 'SPM',
      },
    },
  },
}
