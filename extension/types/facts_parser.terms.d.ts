export const BlockComment: number;
export const Constant: number;
export const Ellipsis: number;
export const Number: number;
