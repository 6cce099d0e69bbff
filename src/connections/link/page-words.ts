// Resources in the words of patients. Only values.
import type { Resource } from '../../wearables/resources/resources.ts'

const resourceWords: Partial<Record<Resource, string>> = {
  profile: 'Personal details, such as height, birth date and sex',
  activity: 'Daily activity',
  workouts: 'Workouts',
  workout_stream: 'Workouts',
  sleep: 'Sleep',
  sleep_cycle: 'Sleep',
  sleep_stream: 'Sleep',
  body: 'Weight and other body measures',
  weight: 'Weight and other body measures',
  fat: 'Weight and other body measures',
  heartrate: 'Heart rate',
  hrv: 'Changes between heartbeats',
  steps: 'Steps',
  distance: 'Distance walked or run',
  floors_climbed: 'Floors climbed',
  calories_active: 'Calories used',
  calories_basal: 'Calories used',
  blood_oxygen: 'Oxygen in the blood',
  blood_pressure: 'Blood pressure',
  body_temperature: 'Body temperature',
  body_temperature_delta: 'Body temperature',
  glucose: 'Blood sugar',
  respiratory_rate: 'Breathing rate',
  stress_level: 'Stress',
  vo2_max: 'Fitness (VO2 max)',
  electrocardiogram: 'Electrocardiograms (ECG)',
  electrocardiogram_voltage: 'Electrocardiograms (ECG)',
  heart_rate_alert: 'Alerts about the heart rate',
  menstrual_cycle: 'Menstrual cycle',
  meal: 'Meals',
  carbohydrates: 'Meals',
  caffeine: 'Caffeine',
  water: 'Water drunk',
  insulin_injection: 'Insulin doses',
  note: 'Notes',
}

/** The kinds of data, each once. */
export const inWords = (resources: readonly Resource[]): string[] => [
  ...new Set(resources.map((resource) => resourceWords[resource] ?? capitalize(resource.replaceAll('_', ' ')))),
]

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
