export const BlockComment: number;
export const Constant: number;
export const Quantifier: number;
export const Variable: number;
export const endOfStatement: number;
export const orWord: number;
