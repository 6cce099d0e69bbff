// The nutrients of a meal, by the parts in which they are shown. Source: users-wearables.md 9.9.

export const minerals = [
  'sodium',
  'potassium',
  'calcium',
  'phosphorus',
  'magnesium',
  'iron',
  'zinc',
  'fluoride',
  'chloride',
] as const
export const traceElements = ['chromium', 'copper', 'iodine', 'manganese', 'molybdenum', 'selenium'] as const
export const vitamins = [
  'vitamin_a',
  'vitamin_b1',
  'riboflavin',
  'niacin',
  'pantothenic_acid',
  'vitamin_b6',
  'biotin',
  'vitamin_b12',
  'vitamin_c',
  'vitamin_d',
  'vitamin_e',
  'vitamin_k',
  'folic_acid',
] as const
export const fats = ['saturated', 'monounsaturated', 'polyunsaturated', 'omega3', 'omega6', 'total'] as const
export const macros = ['carbs', 'protein', 'alcohol', 'water', 'fibre', 'sugar', 'cholesterol'] as const
