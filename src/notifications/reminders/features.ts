import { feature } from '../../platform/http/feature-flags.ts'

export const patientReminders = feature('patient_reminders', 'reminders to patients who have not done their part yet')
