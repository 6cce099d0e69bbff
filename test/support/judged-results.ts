// Results without a flag beside their range, and what they mean wherever they come from.
import type { Interpretation } from '../../src/lab-values/interpret.ts'

export interface JudgedResult {
  name: string
  result: string
  unit: string | null
  reference_range: string
  interpretation: Interpretation
}

const judged = (
  name: string,
  result: string,
  unit: string | null,
  reference_range: string,
  interpretation: Interpretation,
): JudgedResult => ({ name, result, unit, reference_range, interpretation })

export const judgedResults: JudgedResult[] = [
  judged('TSH', '6.9', 'mIU/L', '0.4 to 4.5', 'abnormal'),
  judged('ALT', '160', 'U/L', 'up to 100', 'abnormal'),
  judged('AST', '40', 'U/L', 'up to 40', 'normal'),
  judged('HDL Cholesterol', '20', 'mg/dL', 'more than 40', 'abnormal'),
  judged('Hemoglobin A1c', '5.7', '%', '<5.7', 'abnormal'),
  judged('Glucose', '99', 'mg/dL', '70-99', 'normal'),
  judged('Ferritin', '<5', 'ng/mL', '15-150', 'abnormal'),
  judged('Triglycerides', '>500', 'mg/dL', '50-700', 'unknown'),
  judged('HIV Antibody', 'Reactive', null, 'Non-Reactive', 'abnormal'),
  judged('HBsAg', 'NON-REACTIVE', null, 'Non-Reactive', 'normal'),
  judged('Chlamydia trachomatis', 'DETECTED', null, 'NOT DETECTED', 'abnormal'),
  judged('Neisseria gonorrhoeae', 'Not Detected', null, 'NOT DETECTED', 'normal'),
  judged('Urine Ketones', 'Trace', null, 'Negative', 'abnormal'),
  judged('Urine Protein', '2+', null, 'Negative', 'abnormal'),
  judged('Urine Nitrite', 'Negative', null, 'Negative', 'normal'),
  judged('Rubella Antibody', 'Equivocal', null, 'Positive', 'unknown'),
]
